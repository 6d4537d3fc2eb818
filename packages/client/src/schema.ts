import { ClientError } from './client-error.ts'
import type { SendResult } from './send-result.ts'

/** One reason why a body does not match. */
export interface BodyIssue {
  readonly message: string
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
}

type Checked<Body> =
  | { readonly value: Body; readonly issues?: undefined }
  | { readonly issues: readonly BodyIssue[] }

/** The part of a Standard Schema (https://standardschema.dev) that is used: Zod, Valibot, ArkType and others have it. */
export interface BodySchema<Body> {
  readonly '~standard': {
    readonly version: 1
    readonly validate: (value: unknown) => Checked<Body> | Promise<Checked<Body>>
  }
}

/** The result with the schema's own output as its body. */
export async function withSchema<Body>(
  result: SendResult,
  schema: BodySchema<Body>,
  url: string,
): Promise<SendResult<Body>> {
  const taken = `POST ${url} answered ${result.status}, so the message was taken, but`
  const checked = await check(result.body, schema).catch((cause: unknown) => {
    throw new ClientError('api', `${taken} the schema failed`, { ...result, cause })
  })
  if (checked.issues === undefined) return { ...result, body: checked.value }
  throw new ClientError('api', `${taken} the body does not match the schema`, {
    ...result,
    issues: checked.issues,
  })
}

/** A rejection even if a schema throws. */
async function check<Body>(body: unknown, schema: BodySchema<Body>): Promise<Checked<Body>> {
  return schema['~standard'].validate(body)
}
