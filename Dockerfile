# The image of the operator: a static program, the watches file and the chart.
#
# All images are pinned by digest; dependabot updates the digests, and
# `make docker-push` refuses to push without any.
ARG GO_IMAGE=docker.io/library/golang:1.26-bookworm@sha256:b305420a68d0f229d91eb3b3ed9e519fcf2cf5461da4bef997bf927e8c0bfd2b
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot@sha256:e2e927ec666bae08560abb3c55d0659eceabb657f56b6782ab500a9fc7f555e3

# The web page is the same for all platforms.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS page
WORKDIR /workspace/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci
COPY web/ ./
COPY config/crd/ ../config/crd/
COPY hack/notices.mjs ../hack/
RUN npm run build && node ../hack/notices.mjs . > /notices-page.txt

# Runs on the build machine, and cross-compiles for the requested platform.
FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS builder
WORKDIR /workspace
# The modules have their own layer, because they change less often than the code.
COPY go.mod go.sum ./
RUN go mod download
COPY main.go ./
COPY api/ api/
COPY docs/conditions.go docs/conditions.md docs/
COPY config/crd/ config/crd/
COPY internal/ internal/
COPY helm-charts/ helm-charts/
COPY web/embed.go web/
COPY --from=page /workspace/web/dist/ web/dist/
COPY gate/notices.sh gate/
RUN gate/notices.sh . > /notices.txt
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=0.1.0-dev
# v1.0.0 builds with Go's FIPS 140-3 module of that version.
ARG GOFIPS140=off
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -trimpath -buildvcs=false -gcflags=all=-dwarf=false \
    -ldflags "-s -w -X github.com/darkroom-operator/darkroom-operator/internal/cmd.buildVersion=${VERSION}" \
    -o /darkroom-operator .

FROM ${BASE_IMAGE}
ARG VERSION=0.1.0-dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Darkroom Operator" \
      org.opencontainers.image.description="Runs Darkroom image proxies on Kubernetes" \
      org.opencontainers.image.source="https://github.com/darkroom-operator/darkroom-operator" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# The watches file names its chart relative to the working directory.
WORKDIR /
COPY LICENSE /licenses/LICENSE
COPY --from=builder /notices.txt /licenses/modules.txt
COPY --from=page /notices-page.txt /licenses/page.txt
COPY watches.yaml /watches.yaml
COPY helm-charts/darkroom/ /helm-charts/darkroom/
COPY --from=builder /darkroom-operator /darkroom-operator
# A number, because runAsNonRoot cannot verify a user name.
USER 65532:65532
ENTRYPOINT ["/darkroom-operator"]
CMD ["manager"]
