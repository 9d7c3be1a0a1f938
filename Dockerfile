# `tidemark serve` in a container: the server alone, on an image without a shell, as nobody.
#
#   docker build -t tidemark .
#   TIDEMARK_TOKEN=… docker compose up        # see compose.yaml
#
# Tests/Interop/test_container.py runs these steps where there is no Docker.

FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
    libsqlite3-dev zlib1g-dev libturbojpeg0-dev libpng-dev libwebp-dev
WORKDIR /src
COPY Package.swift ./
COPY Sources ./Sources
COPY Plugins ./Plugins
COPY Examples ./Examples
COPY Benchmarks ./Benchmarks
COPY Tests ./Tests
RUN swift build -c release --product tidemark --static-swift-stdlib
RUN mkdir -p /out/lib /out/data && strip -o /out/tidemark .build/release/tidemark
# What the program is linked with and the next image does not bring.
RUN ldd /out/tidemark | awk '$2 == "=>" { print $3 }' \
    | grep -E '/lib(sqlite3|z|png16|webp|sharpyuv|turbojpeg)\.so' \
    | xargs -I FILE cp -L FILE /out/lib/

FROM gcr.io/distroless/cc-debian12
COPY --from=build /out/lib/ /usr/local/lib/tidemark/
COPY --from=build /out/tidemark /usr/local/bin/tidemark
# An empty folder of nobody's: a volume that is mounted there is made like it.
COPY --from=build --chown=65534:65534 /out/data/ /data/
ENV LD_LIBRARY_PATH=/usr/local/lib/tidemark
USER 65534:65534
VOLUME /data
# Firestore (gRPC, REST, WebChannel), the console, and accounts.
EXPOSE 8080 4000 9099
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 \
    CMD ["/usr/local/bin/tidemark", "doctor", "--host", "127.0.0.1:8080", "--step-seconds", "2"]
ENTRYPOINT ["/usr/local/bin/tidemark"]
# Others can reach it, so it asks for the token that TIDEMARK_TOKEN says.
CMD ["serve", "--host", "0.0.0.0", "--port", "8080", "--control-port", "4000", "--accounts", "secure", "--accounts-port", "9099", "--data", "/data"]
