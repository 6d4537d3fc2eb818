import { toJsonSchema } from '@valibot/to-json-schema'
import type { FieldSchema, FieldView } from '../protocol/verbs.ts'
import type { Verb } from './verb.ts'

/** The fields of a verb, in their order. */
export function fieldsOf({ fields }: Verb): readonly FieldView[] {
  const { properties = {}, required = [] } = toJsonSchema(fields, { typeMode: 'input', errorMode: 'ignore' })
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    isRequired: required.includes(name),
    schema: schema as unknown as FieldSchema,
  }))
}

/** The JSON Schema of a verb's arguments, as an agent gives them. */
export function inputSchemaOf(verb: Verb): Readonly<Record<string, unknown>> {
  const fields = fieldsOf(verb).filter(({ schema }) => schema.isForPages !== true)
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(({ name, schema }) => [name, plain(schema)])),
    required: fields.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    additionalProperties: false,
  }
}

function plain({ sign: _, isArgument: _1, isForPages: _2, ...schema }: FieldSchema): object {
  return schema
}
