import { requirePattern, secretsFault } from '@ackhook/core/spi'
import type { EndpointView } from '../endpoints/endpoint-view.ts'
import { DEFAULT_WORKSPACE, type EndpointChange } from '../endpoints/endpoints.ts'
import { invalid } from '../errors/emulator-error.ts'
import {
  asRequest,
  booleanField,
  durationField,
  type Fields,
  fieldsOf,
  listField,
  textField,
  withoutUndefined,
} from '../lib/read-fields.ts'
import { toInstant } from '../lib/time.ts'
import type { EmulatorApi, EndpointResult, WorkspaceView } from './emulator-api.ts'
import type { Parts } from './parts.ts'

const YEAR_MS = 365 * 86_400_000

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
    const fields = fieldsOf(options, ['secret', 'overlap'], 'options')
    const given = secretField(fields)
    const secret = this.#parts.endpoints.rotate(workspace, given, durationField(fields, 'overlap', YEAR_MS))
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
  const fields = fieldsOf(change, ['url', 'secret', 'categories', 'types', 'paused'], 'endpoint')
  const types = listField(fields, 'types')
  for (const type of types ?? []) asRequest(() => requirePattern('types', type))
  return withoutUndefined({
    url: textField(fields, 'url', 2048),
    secret: secretField(fields),
    categories: listField(fields, 'categories'),
    types,
    paused: booleanField(fields, 'paused'),
  })
}

function secretField(fields: Fields): string | undefined {
  const secret = textField(fields, 'secret')
  if (secret === undefined) return undefined
  if (!/^[\x21-\x7e]+$/.test(secret)) throw invalid('secret', 'must be printable ASCII without spaces')
  const fault = secretsFault([secret])
  if (fault !== undefined) throw invalid('secret', fault)
  return secret
}
