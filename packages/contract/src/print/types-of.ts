import { KNOWN_TYPES, literalKey, oneOf } from '@ackhook/core/spi'
import { observe } from '../record/observed-contract.ts'
import type { Recording } from '../record/recording.ts'
import { KIND } from '../shape/kinds.ts'
import type { Shape } from '../shape/shape.ts'
import { type Dialect, TYPESCRIPT, VALIBOT, ZOD } from './dialects.ts'
import { printShape } from './print-shape.ts'

/** Options of {@link typesOf}. */
export interface TypesOptions {
  /** `'types'` (default): declarations for `EventMap`. `'zod'`, `'valibot'`: schemas for the option `events`. */
  readonly as?: 'types' | 'zod' | 'valibot' | undefined
}

const DIALECTS: Readonly<Record<'types' | 'zod' | 'valibot', Dialect>> = {
  types: TYPESCRIPT,
  zod: ZOD,
  valibot: VALIBOT,
}

/**
 * Writes TypeScript for the data of each recorded type, as it arrived: `contract.upcast` may have changed it since. The same
 * recordings give the same text. A field that was missing once is optional; ids and times stay strings. Throws
 * `ConfigurationError` for a wrong option.
 *
 * @example
 * writeFileSync('events.d.ts', typesOf(readRecordings('recorded')))
 */
export function typesOf(recordings: readonly Recording[], options: TypesOptions = {}): string {
  const as = oneOf('as', options.as ?? 'types', ['types', 'zod', 'valibot'])
  const types = [...observe(recordings).types]
    .flatMap(([type, event]) => {
      const data = event.fields.get('data')
      return type === '' || data === undefined || data.kinds !== KIND.object ? [] : [{ type, data }]
    })
    .sort((one, other) => (one.type < other.type ? -1 : 1))
  const head = `// Written by \`ackhook types\` from ${count(recordings.length)}. Do not edit: write it again instead.\n`
  return `${head}${as === 'types' ? printTypes(types) : printSchemas(types, as)}`
}

interface RecordedType {
  readonly type: string
  readonly data: Shape
}

function printTypes(types: readonly RecordedType[]): string {
  const published = types.filter(({ type }) => KNOWN_TYPES.includes(type)).map(({ type }) => `'${type}'`)
  const added = published.length === 0 ? 'RecordedEvents' : `Omit<RecordedEvents, ${published.join(' | ')}>`
  return `import '@ackhook/core'

/** Data of each type, as it arrived. */
export interface RecordedEvents {
${listOf(types, 'types')}
}

declare module '@ackhook/core' {
${published.length === 0 ? '' : `  // ${published.join(' and ')}: published, and declared by @ackhook/core.\n`}  interface EventMap extends ${added} {}
}
`
}

function printSchemas(types: readonly RecordedType[], as: 'zod' | 'valibot'): string {
  const imported = as === 'zod' ? "import { z } from 'zod'" : "import * as v from 'valibot'"
  return `${imported}

/** Schemas for the option \`events\`. */
export const events = {
${listOf(types, as)}
}
`
}

function listOf(types: readonly RecordedType[], as: 'types' | 'zod' | 'valibot'): string {
  const end = as === 'types' ? '' : ','
  return types
    .map(({ type, data }) => {
      const text = `/** From ${count(data.seen)}. */\n${literalKey(type)}: ${printShape(data, DIALECTS[as])}${end}`
      return text.replace(/^/gm, '  ')
    })
    .join('\n')
}

function count(deliveries: number): string {
  return deliveries === 1 ? '1 recorded delivery' : `${deliveries} recorded deliveries`
}
