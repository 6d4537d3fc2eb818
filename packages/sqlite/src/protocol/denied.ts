import type { Fault } from './fault.ts'

/** Flags that grant what Node's permission model denies. */
const FLAGS: Readonly<Record<string, string>> = {
  WorkerThreads: '--allow-worker',
  FileSystemRead: '--allow-fs-read',
  FileSystemWrite: '--allow-fs-write',
  Addon: '--allow-addons',
}

interface Denial {
  readonly code?: unknown
  readonly permission?: unknown
  readonly resource?: unknown
}

/** Returns the fault for something that Node's flags deny; `undefined` for any other error. */
export function deniedFault(error: unknown): Fault | undefined {
  const { code, permission, resource } = (error ?? {}) as Denial
  if (code === 'ERR_DLOPEN_DISABLED') {
    return denied(
      "its driver is a native addon, which this process may not load: add --allow-addons to node's flags (with --no-addons, remove that), or use a Node whose node:sqlite has SQLite 3.51.3 or later",
    )
  }
  if (code !== 'ERR_ACCESS_DENIED') return undefined
  const flag =
    FLAGS[String(permission)] ?? '--allow-worker, --allow-addons, --allow-fs-read and --allow-fs-write'
  const what = permission === 'WorkerThreads' ? 'its thread' : String(resource || permission)
  const value = flag.startsWith('--allow-fs') && resource ? `${flag}=${String(resource)}` : flag
  return denied(`Node's permission model denies it ${what}: add ${value} to node's flags`)
}

function denied(message: string): Fault {
  return { kind: 'configuration', message }
}
