// A named import of `parseEnv` would fail on an old Node before core says which one it needs.
import util from 'node:util'
import { readText, STANDARD_INPUT, type TextPlace } from '../command/read-text.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'

export interface SecretOptions {
  readonly secret?: readonly string[]
  readonly secretsFile?: string
}

/** A secret and where it came from. Only `source` is ever printed. */
export interface NamedSecret {
  readonly value: string
  readonly source: string
}

const NAME = 'SIGNING_SECRET'
/** `SIGNING_SECRET_2` and so on hold the other secrets during a rotation. */
const OTHERS = /^SIGNING_SECRET_([2-9])$/

/** Resolves secrets from the command line (with a warning), a file, the environment or a prompt, in that order. */
export async function resolveSecrets(
  options: SecretOptions,
  terminal: Terminal,
): Promise<readonly NamedSecret[]> {
  const known = await findSecrets(options, terminal)
  if (known.length > 0) return known
  const typed = await terminal.askSecret("The endpoint's signing secret")
  if (typed) return [{ value: typed, source: 'the prompt' }]
  throw new UsageError(
    `no signing secret: set ${NAME}, or name a file that sets it with --secrets-file. For a first try, use any text of 16 characters, the same in your app: export ${NAME}=only-for-trying-it-out`,
  )
}

/** Resolves secrets without the prompt, for commands that also work without a secret. */
export async function findSecrets(
  options: SecretOptions,
  terminal: Terminal,
): Promise<readonly NamedSecret[]> {
  if (options.secret !== undefined && options.secret.length > 0) {
    terminal.err(
      `Warning: a secret on the command line can be read in the shell history and in the process list. Set ${NAME} or use --secrets-file instead.`,
    )
    return options.secret.map((value, i) => ({ value, source: `--secret${i === 0 ? '' : ` no. ${i + 1}`}` }))
  }
  const { secretsFile } = options
  if (secretsFile === undefined) return secretsIn(terminal.env, '')
  const named = secretsFile === STANDARD_INPUT ? 'standard input' : secretsFile
  const found = secretsIn(await readSecretsFile(secretsFile, terminal), ` in ${named}`)
  if (found.length > 0) return found
  throw new UsageError(`${named} does not set ${NAME}: add a line ${NAME}=...`)
}

function secretsIn(env: Readonly<Record<string, string | undefined>>, where: string): NamedSecret[] {
  const names = [
    NAME,
    ...Object.keys(env)
      .filter(name => OTHERS.test(name))
      .sort(),
  ]
  return names.flatMap(name => (env[name] ? [{ value: env[name], source: `${name}${where}` }] : []))
}

async function readSecretsFile(
  file: string,
  place: TextPlace,
): Promise<Readonly<Record<string, string | undefined>>> {
  try {
    return util.parseEnv(await readText(file, place))
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    throw new UsageError(`cannot read the secrets file ${file}: ${(cause as Error).message}`, { cause })
  }
}
