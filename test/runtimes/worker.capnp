using Workerd = import "/workerd/workerd.capnp";

# No compatibility flag on purpose: the core needs nothing of nodejs_compat.
const config :Workerd.Config = (
  services = [
    (name = "app", worker = .app),
    # For the client: the server that it calls is on this machine.
    (name = "internet", network = (allow = ["local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "app")],
);

const app :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "dist/worker.mjs")],
  compatibilityDate = "2026-11-01",
  bindings = [(name = "SIGNING_SECRET", fromEnvironment = "SIGNING_SECRET")],
);
