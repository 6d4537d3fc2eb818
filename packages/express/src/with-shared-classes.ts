import type { Request, Response } from 'express'

type Listener = (request: Request, response: Response) => Promise<void>

/** V8 12 is that of Node 22. Bun names a V8 that it does not have. */
const isNeeded = Number.parseInt(process.versions.v8, 10) < 13 && process.versions['bun'] === undefined
const PASSING = Symbol('ackhook')

/**
 * Express gives each request and response another prototype. What is added to an object after that, V8 up to version 12
 * turns into a hidden class of its own: no two requests are alike, no inline cache ever fits, and each of the many
 * accesses from here to the end of the reply is a slow lookup. A property that goes again makes the object a dictionary,
 * and those have one class. perf: note 39.
 */
export function withSharedClasses(listener: Listener): Listener {
  if (!isNeeded) return listener
  return (request, response) => {
    // A missing response means that another framework calls, which the listener reports.
    if (response !== undefined) {
      toDictionary(request)
      toDictionary(response)
    }
    return listener(request, response)
  }
}

function toDictionary(object: object): void {
  Reflect.set(object, PASSING, undefined)
  Reflect.deleteProperty(object, PASSING)
}
