import { requirePattern, secretsFault } from '@ackhook/core/spi'
import type { EndpointView } from '../endpoints/endpoint-view.ts'
import { DEFAULT_WORKSPACE } from '../endpoints/endpoints.ts'
import { invalid } from '../errors/emulator-error.ts'
import { asRequest, readAll } from '../lib/read-fields.ts'
import { toInstant } from '../lib/time.ts'
import { ENDPOINT, type EndpointChange, ROTATE } from '../shapes/requests.ts'
import type { EmulatorApi, EndpointResult, WorkspaceView } from './emulator-api.ts'
import type { Parts } from './parts.ts'

/** Workspaces and their endpoints. */
export class EndpointOperations implements Pick<EmulatorApi, 'workspaces' | 'endpoints'> {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  readonly workspaces: EmulatorApi['workspaces'] = {
    list: async () => this.#parts.endpoints.workspaces().map(one => this.#workspace(one)),
    create: async id => {
      this.#parts.endpoints.addWorkspace(id)
      const created = this.#parts.endpoints.workspaces().find(one => one.id === id)
      return this.#workspace(created as { id: string; createdAt: number })
    },
    remove: async id => {
      this.#parts.endpoints.removeWorkspace(id)
      this.#giveUp(id)
    },
  }

  readonly endpoints: EmulatorApi['endpoints'] = {
    get: async (workspace = DEFAULT_WORKSPACE) => this.#parts.endpoints.view(workspace),
    put: async (change, workspace = DEFAULT_WORKSPACE) => this.#put(change, workspace),
    remove: async (workspace = DEFAULT_WORKSPACE) => {
      this.#parts.endpoints.require(workspace)
      this.#parts.endpoints.remove(workspace)
      this.#giveUp(workspace)
    },
    rotateSecret: async (options = {}, workspace = DEFAULT_WORKSPACE) => this.#rotate(options, workspace),
    pause: async (workspace = DEFAULT_WORKSPACE) => this.#pause(workspace, true),
    resume: async (workspace = DEFAULT_WORKSPACE) => this.#pause(workspace, false),
  }

  #workspace({ id, createdAt }: { readonly id: string; readonly createdAt: number }): WorkspaceView {
    const { endpoints } = this.#parts
    const endpoint = endpoints.find(id) === undefined ? null : endpoints.view(id)
    return { id, createdAt: toInstant(createdAt), endpoint }
  }

  #put(change: EndpointChange, workspace: string): EndpointResult {
    const secret = this.#parts.endpoints.put(workspace, readChange(change)) ?? null
    return { endpoint: this.#announce(workspace), secret }
  }

  #rotate(options: object, workspace: string): EndpointResult {
    const { secret: given, overlap } = readAll(ROTATE, options, 'options')
    requireSecret(given)
    const secret = this.#parts.endpoints.rotate(workspace, given, overlap)
    return { endpoint: this.#announce(workspace), secret: given === undefined ? secret : null }
  }

  #pause(workspace: string, paused: boolean): EndpointView {
    this.#parts.endpoints.require(workspace)
    this.#parts.endpoints.put(workspace, { paused })
    return this.#announce(workspace)
  }

  #announce(workspace: string): EndpointView {
    const { endpoints, feed, engine } = this.#parts
    const view = endpoints.view(workspace)
    feed.publish('endpoint', view)
    setImmediate(() => engine.startDue())
    return view
  }

  /** Makes pending deliveries undelivered, so that none is lost. */
  #giveUp(workspace: string): void {
    const { storage, counts, clock, feed, waiters } = this.#parts
    storage.deliveries.giveUp(workspace, 'the endpoint was removed', clock.now())
    counts.replace(storage.deliveries.counts())
    feed.publish('gap', {})
    waiters.changed()
  }
}

function readChange(change: object): EndpointChange {
  const fields = readAll(ENDPOINT, change, 'endpoint')
  for (const type of fields.types ?? []) asRequest(() => requirePattern('types', type))
  requireSecret(fields.secret)
  return fields
}

/** Throws `EmulatorError` for a secret that nothing could be signed with. */
function requireSecret(secret: string | undefined): void {
  if (secret === undefined) return
  if (!/^[\x21-\x7e]+$/.test(secret)) throw invalid('secret', 'must be printable ASCII without spaces')
  const fault = secretsFault([secret])
  if (fault !== undefined) throw invalid('secret', fault)
}
