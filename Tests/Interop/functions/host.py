"""Serves functions of main.py by Google's functions framework, each at /NAME of one port."""

import pathlib
import sys

from functions_framework import create_app
from werkzeug.serving import WSGIRequestHandler, make_server

port, names = int(sys.argv[1]), sys.argv[2:]
source = str(pathlib.Path(__file__).with_name("main.py"))
apps = {name: create_app(target=name, source=source,
                         signature_type="http" if name.startswith("before") else "cloudevent")
        for name in names}


class Quiet(WSGIRequestHandler):
    def log_request(self, *_):
        pass


def dispatch(environ, start_response):
    app = apps[environ["PATH_INFO"].strip("/")]
    environ["PATH_INFO"] = "/"
    return app(environ, start_response)


server = make_server("127.0.0.1", port, dispatch, threaded=True, request_handler=Quiet)
print("ready", flush=True)
server.serve_forever()
