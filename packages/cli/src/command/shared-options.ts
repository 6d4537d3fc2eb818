import type { ContractOptions, Duration, EnvelopeFields, TimestampUnit } from '@ackhook/core'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { UsageError } from './usage-error.ts'

export interface SecretFlags {
  readonly secret?: readonly string[]
  readonly secretsFile?: string
}

export interface ContractFlags {
  readonly header?: string
  readonly scheme?: string
  readonly timestampUnit?: TimestampUnit
  readonly field?: Partial<EnvelopeFields>
}

/** Unit of a generated `t`. */
export type SentUnit = Exclude<TimestampUnit, 'auto'>

export interface SentContractFlags extends ContractFlags {
  readonly timestampUnit: SentUnit
}

export interface InsecureFlags {
  readonly insecure?: boolean
}

export function withInsecure(command: Command): Command {
  return command.option('--insecure', 'accept any certificate, for an app of your own with https://')
}

export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON instead of text')
}

export function withSecret(command: Command): Command {
  return (
    command
      .option('--secret <secret>', 'the signing secret; prefer SIGNING_SECRET or --secrets-file', collect)
      // The name --env-file would not do: Node itself reads that option, even after the script's name.
      .option(
        '--secrets-file <file>',
        'read SIGNING_SECRET from this file, such as .env; - reads standard input',
      )
  )
}

/** Collects the values of a repeatable option. `<secret...>` would swallow the argument after it. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

const UNITS = ['seconds', 'milliseconds', 'iso8601'] as const satisfies readonly SentUnit[]

/** Adds the options that correspond to the receiver's `contract`. */
export function withContract(command: Command): Command {
  return command
    .option('--header <name>', 'name of the signature header (default: X-Service-Signature)')
    .option('--scheme <label>', 'label of the signature in the header (default: v1)')
    .option('--field <field=name>', 'name of a field in the body, such as id=event_id', collectField)
}

/** Adds the options of commands that sign. */
export function withSentUnit(command: Command): Command {
  return command.addOption(
    new Option('--timestamp-unit <unit>', 'unit of t').choices(UNITS).default('seconds'),
  )
}

export function withTolerance(command: Command): Command {
  return command
    .addOption(new Option('--timestamp-unit <unit>', 'unit of t (default: auto)').choices(['auto', ...UNITS]))
    .option('--tolerance <duration>', 'maximum age of t, such as 5m or 3d', parseDuration, '5m' as Duration)
}

/** Returns the contract options given on the command line. */
export function contractOf<Unit extends TimestampUnit>({
  header,
  scheme,
  timestampUnit,
  field,
}: ContractFlags & { readonly timestampUnit?: Unit }): Pick<
  ContractOptions,
  'header' | 'scheme' | 'fields'
> & {
  readonly timestampUnit?: Unit
} {
  return {
    ...(header !== undefined && { header }),
    ...(scheme !== undefined && { scheme }),
    ...(timestampUnit !== undefined && { timestampUnit }),
    ...(field !== undefined && { fields: field }),
  }
}

function collectField(text: string, before: Partial<EnvelopeFields> = {}): Partial<EnvelopeFields> {
  const [, field, name] = /^(id|type|created_at|data)=(.+)$/.exec(text) ?? []
  if (field !== undefined) return { ...before, [field]: name }
  throw new InvalidArgumentError(
    'Use id, type, created_at or data with its name in the body, such as id=event_id.',
  )
}

export function parseDuration(text: string): Duration {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) return text as Duration
  throw new InvalidArgumentError('Use a duration such as 500ms, 30s, 5m or 3d.')
}

export function parseCount(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1) return value
  throw new InvalidArgumentError('Use a whole number of at least 1.')
}

export function parsePort(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0 && value <= 65_535) return value
  throw new InvalidArgumentError('Use a port from 0 to 65535.')
}

/** Parses the path of what cannot be read or written as a stream, such as a database. */
export function parsePath(text: string): string {
  if (text !== '-') return text
  throw new InvalidArgumentError('This is opened by its path, so it cannot be standard input or output.')
}

export function parseUrl(text: string): string {
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  const url = parsed !== undefined && /^https?:$/.test(parsed.protocol) ? parsed : undefined
  // Commander's own error would print the password.
  if (text.includes('@') && (url === undefined || url.username !== '' || url.password !== '')) {
    throw new UsageError('an address must not contain a user name or password: remove the part before the @')
  }
  if (url !== undefined) return url.href
  throw new InvalidArgumentError('Use a full address, such as http://localhost:3000/webhooks.')
}
