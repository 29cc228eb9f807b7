"""The demonstration: the main job of the service played by separate client processes, told and checked line by line."""
