# `tidemark serve` in a container: the server alone, on an image without anything else, as nobody.
#
#   docker build -t tidemark .
#   TIDEMARK_TOKEN=… docker compose up        # see compose.yaml
#
# Tests/Interop/test_container.py runs these steps where there is no Docker.

FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates \
    libsqlite3-dev zlib1g-dev libturbojpeg0-dev libpng-dev libwebp-dev libcurl4-openssl-dev
WORKDIR /src
COPY Package.swift ./
COPY Sources ./Sources
COPY Plugins ./Plugins
COPY Examples ./Examples
COPY Benchmarks ./Benchmarks
COPY Tests ./Tests
# Nobody looks up a name in the program while it runs, so the linker may leave out what nothing in it calls:
# without the table of names, with a section for each function, and with public ones no longer kept for others,
# and with packed relocations, it is 24 MB smaller (Decisions/0068).
RUN swift build -c release --product tidemark --static-swift-stdlib \
    -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -Xfrontend -Xswiftc -internalize-at-link \
    -Xcc -ffunction-sections -Xcc -fdata-sections -Xswiftc -use-ld=lld \
    -Xlinker --no-export-dynamic -Xlinker -z -Xlinker pack-relative-relocs
# All of the next image: the program, what it is linked with, certificates, and a folder for files that go.
RUN mkdir -p /out/root/usr/local/bin /out/root/etc/ssl/certs /out/data \
    && mkdir -m 1777 /out/root/tmp \
    && cp /etc/ssl/certs/ca-certificates.crt /out/root/etc/ssl/certs/ \
    && strip -o /out/root/usr/local/bin/tidemark .build/release/tidemark
RUN ldd /out/root/usr/local/bin/tidemark | grep -o '/[^ ]*' \
    | xargs -I FILE cp -L --parents FILE /out/root/

FROM scratch
COPY --from=build /out/root/ /
# An empty folder of nobody's: a volume that is mounted there is made like it.
COPY --from=build --chown=65534:65534 /out/data/ /data/
USER 65534:65534
VOLUME /data
# Firestore (gRPC, REST, WebChannel), the console, and accounts.
EXPOSE 8080 4000 9099
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 \
    CMD ["/usr/local/bin/tidemark", "doctor", "--host", "127.0.0.1:8080", "--step-seconds", "2"]
ENTRYPOINT ["/usr/local/bin/tidemark"]
# Others can reach it, so it asks for the token that TIDEMARK_TOKEN says.
CMD ["serve", "--host", "0.0.0.0", "--port", "8080", "--control-port", "4000", "--accounts", "secure", "--accounts-port", "9099", "--data", "/data"]
