"""Interceptors, one file each. They are composed once per method when the server is built, outermost first:

errors, request_id, deadline, authenticate, validate, authorize. No method can be registered without them (`server.rpc`).
"""
