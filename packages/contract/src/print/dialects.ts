import { literal, literalKey } from '@ackhook/core/spi'

/** A field of an object, already printed. */
export interface PrintedField {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
  /** Comment for people, without its delimiters. */
  readonly note: string | undefined
}

/** How types are written: as TypeScript, or with the functions of a schema library. */
export interface Dialect {
  readonly string: string
  readonly number: string
  readonly boolean: string
  readonly null: string
  readonly unknown: string
  /** Values that a string has had. Others must stay possible: the sender may add one. */
  values(values: readonly string[]): string
  array(item: string): string
  record(value: string): string
  union(types: readonly string[]): string
  /** `isOpen`: the object has further keys. */
  object(fields: readonly string[], isOpen: boolean): string
  field(field: PrintedField): string
}

function block(fields: readonly string[]): string {
  return fields.length === 0 ? '{}' : `{\n${fields.join('\n').replace(/^/gm, '  ')}\n}`
}

function noted({ note }: PrintedField, line: string): string {
  return note === undefined ? line : `/** ${note} */\n${line}`
}

export const TYPESCRIPT: Dialect = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  unknown: 'unknown',
  values: values => `${values.map(value => literal(value)).join(' | ')} | (string & {})`,
  array: item => (/^[\w.]+$/.test(item) ? `${item}[]` : `(${item})[]`),
  record: value => `Record<string, ${value}>`,
  union: types => types.join(' | '),
  object: (fields, isOpen) => block(isOpen ? [...fields, '[key: string]: unknown'] : fields),
  field: field => noted(field, `${literalKey(field.name)}${field.isOptional ? '?' : ''}: ${field.type}`),
}

function schemaDialect(prefix: string, optional: (type: string) => string): Dialect {
  return {
    string: `${prefix}.string()`,
    number: `${prefix}.number()`,
    boolean: `${prefix}.boolean()`,
    null: `${prefix}.null()`,
    unknown: `${prefix}.unknown()`,
    // A closed set would refuse events with a new value.
    values: () => `${prefix}.string()`,
    array: item => `${prefix}.array(${item})`,
    record: value => `${prefix}.record(${prefix}.string(), ${value})`,
    union: types => `${prefix}.union([${types.join(', ')}])`,
    object: (fields, isOpen) => `${prefix}.${isOpen ? 'looseObject' : 'object'}(${block(fields)})`,
    field: field =>
      noted(field, `${literalKey(field.name)}: ${field.isOptional ? optional(field.type) : field.type},`),
  }
}

export const ZOD: Dialect = schemaDialect('z', type => `${type}.optional()`)
export const VALIBOT: Dialect = schemaDialect('v', type => `v.optional(${type})`)
