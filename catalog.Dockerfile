# The catalog's image: `opm serve` with the folder catalog/. Build it with
#   docker build -f catalog.Dockerfile -t ghcr.io/darkroom-operator/darkroom-operator-catalog:latest .
FROM quay.io/operator-framework/opm:v1.56.0
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]
COPY catalog /configs
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]
LABEL operators.operatorframework.io.index.configs.v1=/configs
