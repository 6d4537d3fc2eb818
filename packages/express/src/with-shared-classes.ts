import type { Request, Response } from 'express'

type Listener = (request: Request, response: Response) => Promise<void>

/** True up to V8 12, which is in Node 22. Bun reports a V8 version without using V8. */
const isNeeded = Number.parseInt(process.versions.v8, 10) < 13 && process.versions['bun'] === undefined
const PASSING = Symbol('ackhook')

/**
 * Express changes the prototype of each request and response. If properties are added after that, V8 up to version 12
 * gives each object its own hidden class: inline caches never match, and every access until the end of the reply is a
 * slow lookup. Deleting a property turns the object into a dictionary, and dictionaries share one class. perf: note 39.
 */
export function withSharedClasses(listener: Listener): Listener {
  if (!isNeeded) return listener
  return (request, response) => {
    // A missing response means that another framework is calling; the listener reports it.
    if (response !== undefined) {
      toDictionary(request)
      toDictionary(response)
    }
    return listener(request, response)
  }
}

function toDictionary(object: object): void {
  try {
    Reflect.set(object, PASSING, undefined)
    Reflect.deleteProperty(object, PASSING)
  } catch {
    // A proxy may refuse: it stays slow.
  }
}
