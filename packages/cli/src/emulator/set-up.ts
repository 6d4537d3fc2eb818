import type { Emulator, EmulatorFaults, EndpointChange } from '@ackhook/emulator'
import { readTextFile } from '../command/read-text.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Content of the file of `start --setup`. The emulator checks the values. */
interface SetUp {
  /** Endpoints by workspace. A workspace that does not exist is created. */
  readonly endpoints?: Readonly<Record<string, EndpointChange>>
  readonly faults?: EmulatorFaults
}

const NAMES = ['endpoints', 'faults']

/** Sets endpoints and faults from a JSON file. An endpoint without a secret gets the given one. */
export async function setUp(
  { api }: Emulator,
  path: string,
  named: string,
  secret: string | undefined,
  { err }: Terminal,
): Promise<void> {
  const { endpoints = {}, faults } = read(path, named)
  const existing = (await api.workspaces.list()).map(({ id }) => id)
  for (const [workspace, change] of Object.entries(endpoints)) {
    await within(`endpoints.${workspace}`, named, async () => {
      if (!existing.includes(workspace)) await api.workspaces.create(workspace)
      const given = secret === undefined ? change : { secret, ...change }
      const { secret: made } = await api.endpoints.put(given, workspace)
      if (made !== null) err(`The secret of ${workspace}, which is shown only once: ${made}`)
    })
  }
  if (faults !== undefined) await within('faults', named, () => api.faults.set(faults))
}

function read(path: string, named: string): SetUp {
  let value: unknown
  try {
    value = JSON.parse(readTextFile(path, named))
  } catch (cause) {
    throw new UsageError(`--setup ${named} cannot be read: ${(cause as Error).message}`, { cause })
  }
  const unknown = Object.keys(Object(value)).find(name => !NAMES.includes(name))
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && unknown === undefined)
    return value
  const what = unknown === undefined ? 'is not an object' : `has the unknown field ${unknown}`
  throw new UsageError(`--setup ${named} ${what}: it may have endpoints, by workspace, and faults`)
}

async function within(field: string, named: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (cause) {
    throw new UsageError(`--setup ${named}: ${field}: ${(cause as Error).message}`, { cause })
  }
}
