const listeners = new Set<() => void>()
let isExiting = false

/**
 * Calls `listener` once when the process exits, while it can still write. Returns a function that removes the listener.
 */
export function onExit(listener: () => void): () => void {
  // One listener for all: Node warns when an event has more than ten.
  // In front of pino's listener, which ends its stream: after that, pino writes a single line and drops the others.
  if (listeners.size === 0) process.prependListener('exit', callAll)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) process.off('exit', callAll)
  }
}

/** Returns whether the process is exiting: asynchronous work no longer runs. */
export function exits(): boolean {
  return isExiting
}

function callAll(): void {
  isExiting = true
  for (const listener of listeners) {
    try {
      listener()
    } catch {
      // A listener that throws must not silence the others.
    }
  }
}
