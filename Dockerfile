# The server's image. The tests run from a checkout, not in it.

FROM python:3.11-slim AS build
RUN python -m venv /opt/remit
WORKDIR /src
# The pinned dependencies are a layer of their own: they change less often than the sources.
COPY requirements.lock ./
RUN /opt/remit/bin/pip install --no-cache-dir --require-hashes --requirement requirements.lock
COPY pyproject.toml README.md ./
COPY authz authz
COPY migrations migrations
COPY proto proto
COPY server server
COPY storage storage
RUN /opt/remit/bin/pip install --no-cache-dir --no-index --no-build-isolation --no-deps .

FROM python:3.11-slim
# A numeric user: Kubernetes can then see by itself that it is not root. It has no home; the server writes to /tmp alone.
RUN groupadd --gid 10001 remit \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin remit
COPY --from=build /opt/remit /opt/remit
ENV PATH=/opt/remit/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001:10001
EXPOSE 50051 50052
ENTRYPOINT ["remit"]
# Without arguments the server listens on the loopback only; the chart names the addresses.
CMD ["serve"]
