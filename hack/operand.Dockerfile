# The image of the programs that hack/operand.sh builds: Darkroom v0.4.2, unchanged, on the base image of the gate.
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot@sha256:e2e927ec666bae08560abb3c55d0659eceabb657f56b6782ab500a9fc7f555e3

FROM ${BASE_IMAGE}
ARG TARGETARCH
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Darkroom" \
      org.opencontainers.image.description="Darkroom v0.4.2, built again without changes" \
      org.opencontainers.image.source="https://github.com/gojek/darkroom" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY notices.txt /licenses/modules.txt
COPY darkroom-linux-${TARGETARCH} /app/darkroom
USER 65532:65532
EXPOSE 3000
CMD ["./darkroom", "server"]
