const listeners = new Set<() => void>()
let isExiting = false

/** Calls `listener` once when the process exits, while it can still write. Returns a function that stops it. */
export function onExit(listener: () => void): () => void {
  // One listener for all: Node warns when an event has more than ten.
  if (listeners.size === 0) process.on('exit', callAll)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) process.off('exit', callAll)
  }
}

/** Runs as the process exits: asynchronous work does not happen any more. */
export function exits(): boolean {
  return isExiting
}

function callAll(): void {
  isExiting = true
  for (const listener of listeners) {
    try {
      listener()
    } catch {
      // One that throws must not silence the others.
    }
  }
}
