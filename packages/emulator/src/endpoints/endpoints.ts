import { covers } from '@ackhook/core/spi'
import type { EmulatorClock } from '../clock/emulator-clock.ts'
import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import { newSecret } from '../lib/ids.ts'
import type { Targets } from '../security/targets.ts'
import { type EndpointChange, WORKSPACE_ID } from '../shapes/requests.ts'
import { LIMITS } from '../shapes/settings.ts'
import type { AttemptResult } from '../storage/delivery-row.ts'
import type { EndpointRow } from '../storage/endpoint-rows.ts'
import type { Storage } from '../storage/storage.ts'
import { type EndpointView, type HealthView, toEndpointView } from './endpoint-view.ts'
import { type HealthRules, HealthWindow } from './health-window.ts'

/** Default workspace of all calls. */
export const DEFAULT_WORKSPACE = 'default'

interface EndpointParts {
  readonly storage: Storage
  readonly clock: EmulatorClock
  readonly targets: Targets
  readonly health: HealthRules
  /** How long both secrets sign after a rotation. */
  readonly overlapMs: number
  /** Secret of the default workspace's endpoint, unless it is set with another. */
  readonly secret: string | undefined
}

/** Workspaces and their endpoints, cached in memory because every attempt reads them. */
export class Endpoints {
  readonly #parts: EndpointParts
  readonly #workspaces = new Map<string, number>()
  readonly #rows = new Map<string, EndpointRow>()
  readonly #health = new Map<string, HealthWindow>()

  constructor(parts: EndpointParts) {
    this.#parts = parts
    this.#load()
  }

  workspaces(): readonly { readonly id: string; readonly createdAt: number }[] {
    return [...this.#workspaces].map(([id, createdAt]) => ({ id, createdAt }))
  }

  addWorkspace(id: string): void {
    if (typeof id !== 'string' || !WORKSPACE_ID.test(id))
      throw invalid('workspace', 'must have 1 to 64 letters, digits, _ and -')
    if (this.#workspaces.has(id)) return
    if (this.#workspaces.size >= LIMITS.workspaces)
      throw new EmulatorError('conflict', `the limit of ${LIMITS.workspaces} workspaces is reached`)
    const now = this.#parts.clock.now()
    this.#parts.storage.endpoints.addWorkspace(id, now)
    this.#workspaces.set(id, now)
  }

  removeWorkspace(id: string): void {
    this.requireWorkspace(id)
    if (id === DEFAULT_WORKSPACE) throw new EmulatorError('conflict', `the workspace ${id} cannot be removed`)
    this.remove(id)
    this.#parts.storage.endpoints.removeWorkspace(id)
    this.#workspaces.delete(id)
  }

  requireWorkspace(id: string): void {
    if (!this.#workspaces.has(id)) throw new EmulatorError('not_found', `there is no workspace ${id}`)
  }

  find(workspace: string): EndpointRow | undefined {
    return this.#rows.get(workspace)
  }

  require(workspace: string): EndpointRow {
    this.requireWorkspace(workspace)
    const row = this.#rows.get(workspace)
    if (row === undefined) throw new EmulatorError('not_found', `the workspace ${workspace} has no endpoint`)
    return row
  }

  view(workspace: string): EndpointView {
    return toEndpointView(this.require(workspace), this.healthOf(workspace), this.#parts.clock.now())
  }

  /** Creates or changes a workspace's endpoint. Returns the secret if it was generated. */
  put(workspace: string, change: EndpointChange): string | undefined {
    this.requireWorkspace(workspace)
    const old = this.#rows.get(workspace)
    const given = change.url ?? old?.url
    if (given === undefined) throw invalid('url', 'is missing: give the address to send events to')
    const url = this.requireTarget('url', given)
    const known = workspace === DEFAULT_WORKSPACE ? this.#parts.secret : undefined
    const own = change.secret ?? old?.secret ?? known
    const secret = own ?? newSecret()
    const now = this.#parts.clock.now()
    const isNewSecret = secret !== old?.secret
    this.#write({
      workspace,
      url,
      secret,
      previous_secret: isNewSecret ? null : old.previous_secret,
      previous_until: isNewSecret ? null : old.previous_until,
      categories: listText(change.categories, old?.categories),
      types: listText(change.types, old?.types),
      paused: Number(change.paused ?? old?.paused ?? 0) as 0 | 1,
      warning: old?.warning ?? null,
      created_at: old?.created_at ?? now,
      updated_at: now,
    })
    return own === undefined ? secret : undefined
  }

  /** Returns an address in full. Throws for one to which nothing may be sent. */
  requireTarget(field: string, url: string): string {
    const refusal = this.#parts.targets.refusal(url)
    if (refusal !== undefined) throw invalid(field, refusal)
    return new URL(url).href
  }

  /** Sets and returns a new secret. The old one also signs until `overlapMs` have passed. */
  rotate(workspace: string, secret: string = newSecret(), overlapMs: number = this.#parts.overlapMs): string {
    const old = this.require(workspace)
    const now = this.#parts.clock.now()
    this.#write({
      ...old,
      secret,
      previous_secret: overlapMs > 0 ? old.secret : null,
      previous_until: overlapMs > 0 ? now + overlapMs : null,
      updated_at: now,
    })
    return secret
  }

  remove(workspace: string): void {
    this.#parts.storage.endpoints.remove(workspace)
    this.#rows.delete(workspace)
    this.#health.delete(workspace)
  }

  /** Returns the secrets that currently sign, the newest first. */
  secretsOf({ secret, previous_secret, previous_until }: EndpointRow): readonly string[] {
    const overlaps = previous_secret !== null && (previous_until ?? 0) > this.#parts.clock.now()
    return overlaps ? [secret, previous_secret] : [secret]
  }

  healthOf(workspace: string): HealthView {
    return this.#windowOf(workspace).view(this.#parts.clock.now())
  }

  /** Returns whether the endpoint's warning has appeared or cleared. */
  recordResult(result: AttemptResult): boolean {
    const window = this.#windowOf(result.workspace)
    const changed = window.record(result.at, failureOf(result))
    const row = this.#rows.get(result.workspace)
    if (row !== undefined && row.warning !== window.warning) this.#write({ ...row, warning: window.warning })
    return changed
  }

  /** Clears health and resumes paused endpoints; with `everything`, removes all endpoints. */
  reset(everything: boolean): void {
    for (const window of this.#health.values()) window.clear()
    if (everything) {
      this.#parts.storage.clearEndpoints()
      this.#rows.clear()
      this.#workspaces.clear()
      this.#health.clear()
      this.addWorkspace(DEFAULT_WORKSPACE)
    }
    for (const row of this.#rows.values()) this.#write({ ...row, paused: 0, warning: null })
  }

  #load(): void {
    const { storage, clock, health } = this.#parts
    for (const { id, created_at } of storage.endpoints.workspaces()) this.#workspaces.set(id, created_at)
    for (const row of storage.endpoints.all()) this.#rows.set(row.workspace, row)
    this.addWorkspace(DEFAULT_WORKSPACE)
    for (const result of storage.deliveries.resultsSince(clock.now() - health.windowMs)) {
      this.#windowOf(result.workspace).record(result.at, failureOf(result))
    }
  }

  #windowOf(workspace: string): HealthWindow {
    let window = this.#health.get(workspace)
    if (window === undefined) {
      window = new HealthWindow(this.#parts.health, this.#rows.get(workspace)?.warning ?? null)
      this.#health.set(workspace, window)
    }
    return window
  }

  #write(row: EndpointRow): void {
    this.#parts.storage.endpoints.put(row)
    this.#rows.set(row.workspace, row)
  }
}

/** Returns the reason why an endpoint gets no events of a type, if it gets none. */
export function refusalOf(row: EndpointRow, type: string, category: string): string | undefined {
  const lacks = (list: string | null, one: string) =>
    list !== null && !(JSON.parse(list) as string[]).some(wanted => covers(wanted, one))
  if (lacks(row.categories, category)) return `the endpoint has not subscribed to ${category} events`
  if (lacks(row.types, type)) return `the endpoint's types do not include ${type}`
  return undefined
}

function failureOf({ acknowledged, status, code, error }: AttemptResult): string | undefined {
  if (acknowledged === 1) return undefined
  return status === null ? (error ?? 'no reply') : [status, code].filter(Boolean).join(' ')
}

function listText(list: readonly string[] | null | undefined, old: string | null | undefined): string | null {
  if (list === undefined) return old ?? null
  return list === null ? null : JSON.stringify(list)
}
