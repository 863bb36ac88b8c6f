# The catalog's image: `opm serve` with the folder catalog/. `make catalog-build` builds it,
# `make catalog-push` for all platforms.
ARG OPM_IMAGE=quay.io/operator-framework/opm:v1.56.0

# What opm would read at each start, read beforehand. It is the same for all platforms.
FROM --platform=$BUILDPLATFORM ${OPM_IMAGE} AS cache
COPY catalog /configs
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]

FROM ${OPM_IMAGE}
COPY catalog /configs
COPY --from=cache /tmp/cache /tmp/cache
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]
LABEL operators.operatorframework.io.index.configs.v1=/configs \
      org.opencontainers.image.source="https://github.com/darkroom-operator/darkroom-operator" \
      org.opencontainers.image.licenses="Apache-2.0"
