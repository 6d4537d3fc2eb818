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

/** Part of a Standard Schema (https://standardschema.dev) that the client uses. Zod, Valibot, ArkType and others fit. */
export interface BodySchema<Body> {
  readonly '~standard': {
    readonly version: 1
    readonly validate: (value: unknown) => Checked<Body> | Promise<Checked<Body>>
  }
}

/** Returns the result with the schema's output as its body. */
export async function withSchema<Body>(
  result: SendResult,
  schema: BodySchema<Body>,
  url: string,
): Promise<SendResult<Body>> {
  const taken = `POST ${url} returned ${result.status}, so the message was accepted, but`
  const checked = await check(result.body, schema).catch((cause: unknown) => {
    throw new ClientError('api', `${taken} the schema failed`, { ...result, cause })
  })
  if (checked.issues === undefined) return { ...result, body: checked.value }
  throw new ClientError('api', `${taken} the body does not match the schema`, {
    ...result,
    issues: checked.issues,
  })
}

/** Checks a body. Rejects even if the schema throws, and if its answer is none. */
async function check<Body>(body: unknown, schema: BodySchema<Body>): Promise<Checked<Body>> {
  const answer: unknown = await schema['~standard'].validate(body)
  const isAnswer = typeof answer === 'object' && answer !== null && ('value' in answer || 'issues' in answer)
  if (!isAnswer) throw new TypeError('It returned neither a value nor issues')
  return answer as Checked<Body>
}
