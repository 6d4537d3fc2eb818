using Workerd = import "/workerd/workerd.capnp";

# node:http is there by default from 2026-08-04 on, and with the flag nodejs_compat before.
const config :Workerd.Config = (
  services = [(name = "app", worker = .app)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "app")],
);

const app :Workerd.Worker = (
  modules = [(name = "worker-node.mjs", esModule = embed "dist/worker-node.mjs")],
  compatibilityDate = "2026-11-01",
  bindings = [(name = "SIGNING_SECRET", fromEnvironment = "SIGNING_SECRET")],
);
