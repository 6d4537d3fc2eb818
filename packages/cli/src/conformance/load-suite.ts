import { get as getPlainly } from 'node:http'
import { get as getSecurely } from 'node:https'
import type * as Adapters from '@ackhook/conformance/adapter'
import type * as Inboxes from '@ackhook/conformance/inbox'
import type * as Stores from '@ackhook/conformance/store'
import { DOCS, printable } from '@ackhook/core/spi'
import { importModule } from '../command/import-module.ts'
import { loadFromProject } from '../command/load-from-project.ts'
import type { InsecureFlags, SecretFlags } from '../command/shared-options.ts'
import { UsageError } from '../command/usage-error.ts'
import { hintsFor } from '../delivery/hints-for.ts'
import { resolveSecrets } from '../secrets/resolve-secrets.ts'
import type { Terminal } from '../terminal/terminal.ts'

export interface ConformanceFlags extends SecretFlags, InsecureFlags {
  readonly store?: string
  readonly inbox?: string
  readonly url?: string
  readonly bodyLimit?: number
  /** Ids of the cases to run. Absent: all. */
  readonly case?: readonly string[]
  readonly list?: boolean
  readonly json?: boolean
}

/** A suite's cases, bound to the store, inbox or receiver under test. */
export interface LoadedSuite {
  readonly kind: 'store' | 'inbox' | 'url'
  /** File or address under test, as typed. */
  readonly target: string
  readonly cases: readonly Stores.SuiteCase[]
  readonly notRun: readonly Stores.NotRun[]
}

/** Loads the cases for the given store, inbox or receiver, from the suite installed in the user's project if any. */
export async function loadSuite(flags: ConformanceFlags, terminal: Terminal): Promise<LoadedSuite> {
  const { store, inbox, url } = flags
  if ([store, inbox, url].filter(one => one !== undefined).length !== 1)
    throw new UsageError('name what to test: --store <module>, --inbox <module> or --url <url>')
  if (url !== undefined)
    return { kind: 'url', target: url, ...split(await serverCases(url, flags, terminal)) }
  if (flags.bodyLimit !== undefined) throw new UsageError('--body-limit is only for --url')
  if (flags.insecure) throw new UsageError('--insecure is only for --url')
  const kind = store === undefined ? 'inbox' : 'store'
  const target = store ?? inbox ?? ''
  return { kind, target, ...split(await moduleCases(kind, target, terminal)) }
}

async function serverCases(
  url: string,
  flags: ConformanceFlags,
  terminal: Terminal,
): Promise<Adapters.SuiteCases> {
  const { bodyLimit, list, insecure = false } = flags
  // Listing sends nothing, so it needs no secret.
  const secret = list ? '' : (await resolveSecrets(flags, terminal))[0]!.value
  if (!list) await requireServer(url, { insecure })
  const serverSuite = await loadFromProject<typeof Adapters.serverSuite>(
    '@ackhook/conformance/adapter',
    'serverSuite',
    terminal.cwd,
  )
  return serverSuite({ url, secret, bodyLimit, insecure })
}

async function moduleCases(
  kind: 'store' | 'inbox',
  file: string,
  { cwd }: Terminal,
): Promise<readonly Stores.SuiteCase[]> {
  const module = await importModule(file, cwd)
  const page = `${DOCS}extending/writing-${kind === 'store' ? 'a-store' : 'an-inbox'}.md#the-suite`
  const required = kind === 'store' ? ['open'] : ['open', 'capabilities']
  const missing = required.find(name => module[name] === undefined)
  if (missing !== undefined) throw new UsageError(`${file} must export ${missing}: see ${page}`)
  if (kind === 'store') {
    const suite = await loadFromProject<typeof Stores.storeSuite>(
      '@ackhook/conformance/store',
      'storeSuite',
      cwd,
    )
    return suite(module as unknown as Stores.StoreSuiteOptions)
  }
  const suite = await loadFromProject<typeof Inboxes.inboxSuite>(
    '@ackhook/conformance/inbox',
    'inboxSuite',
    cwd,
  )
  return suite(module as unknown as Inboxes.InboxSuiteOptions)
}

/** Time limit for the first reply, that of each case. */
const REPLY_MS = 15_000

/** Fails early if nothing responds: otherwise every case would fail for the same reason. */
export async function requireServer(
  url: string,
  { insecure = false, replyMs = REPLY_MS }: { readonly insecure?: boolean; readonly replyMs?: number } = {},
): Promise<void> {
  const signal = AbortSignal.timeout(replyMs)
  try {
    await headOf(url, signal, insecure)
  } catch (cause) {
    if (signal.aborted) {
      const late = `nothing responds at ${url} within ${replyMs / 1000} s. Check the address, and what is between it and this machine.`
      throw new UsageError(late, { cause })
    }
    const { code, message } = cause as NodeJS.ErrnoException
    const [fix = 'Start your receiver first.'] = hintsFor([{ error: code ?? message }], 'conformance')
    throw new UsageError(`nothing responds at ${url} (${printable(code ?? message)}). ${fix}`, { cause })
  }
}

/** Resolves once the head of a reply has arrived. `fetch` could not accept any certificate. */
function headOf(url: string, signal: AbortSignal, insecure: boolean): Promise<void> {
  const get = url.startsWith('https:') ? getSecurely : getPlainly
  return new Promise((resolve, reject) => {
    const request = get(url, { signal, agent: false, rejectUnauthorized: !insecure }, () => {
      resolve()
      request.destroy()
    }).on('error', reject)
  })
}

function split(cases: readonly Stores.SuiteCase[] & Partial<Stores.SuiteCases>) {
  return { cases, notRun: cases.notRun ?? [] }
}
