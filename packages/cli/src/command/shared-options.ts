import type { ContractOptions, Duration, TimestampUnit } from '@ackhook/core'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { UsageError } from './usage-error.ts'

export interface SecretFlags {
  readonly secret?: readonly string[]
  readonly envFile?: string
}

export interface ContractFlags {
  readonly header?: string
  readonly scheme?: string
  readonly timestampUnit?: TimestampUnit
}

export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON for programs')
}

export function withSecret(command: Command): Command {
  return command
    .option('--secret <secret>', 'the signing secret; prefer ACKHOOK_SECRET or --env-file', collect)
    .option('--env-file <file>', 'read ACKHOOK_SECRET from this file')
}

/** An option that may be repeated. Not `<secret...>`, which would swallow the argument after it. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

export function withContract(command: Command): Command {
  return command
    .option('--header <name>', 'name of the signature header (default: X-Service-Signature)')
    .option('--scheme <label>', 'label of the signature in the header (default: v1)')
}

export function withTolerance(command: Command): Command {
  return command
    .addOption(
      new Option('--timestamp-unit <unit>', 'unit of t (default: auto)').choices([
        'auto',
        'seconds',
        'milliseconds',
        'iso8601',
      ]),
    )
    .option('--tolerance <duration>', 'how old t may be, such as 5m or 3d', parseDuration, '5m' as Duration)
}

export function contractOf({ header, scheme, timestampUnit }: ContractFlags): ContractOptions {
  return {
    ...(header !== undefined && { header }),
    ...(scheme !== undefined && { scheme }),
    ...(timestampUnit !== undefined && { timestampUnit }),
  }
}

export function parseDuration(text: string): Duration {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) return text as Duration
  if (/^\d+$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Write a duration such as 500ms, 30s, 5m or 3d.')
}

export function parseCount(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1) return value
  throw new InvalidArgumentError('Write a whole number from 1.')
}

export function parseUrl(text: string): string {
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  const url = parsed !== undefined && /^https?:$/.test(parsed.protocol) ? parsed : undefined
  // Not Commander's own error, which would repeat a password.
  if (text.includes('@') && (url === undefined || url.username !== '' || url.password !== '')) {
    throw new UsageError('an address must hold no user name and no password: remove the part before the @')
  }
  if (url !== undefined) return url.href
  throw new InvalidArgumentError('Write a full address, such as http://localhost:3000/webhooks.')
}
