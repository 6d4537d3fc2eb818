import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDescription>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

interface OperationDescription {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
  readonly body: any
}

/** Calls the HTTP API, and checks every reply against `openapi.json`. */
export class DescribedApi {
  readonly #url: string
  readonly #description: Description
  readonly #validators = new Map<object, ValidateFunction>()
  readonly #ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true, allowUnionTypes: true })

  static async of(url: string): Promise<DescribedApi> {
    const reply = await fetch(`${url}/_emulator/v1/openapi.json`)
    // Short names replace pointers, so that each schema compiles strictly on its own.
    const text = (await reply.text()).replaceAll('#/components/schemas/', 'api:')
    return new DescribedApi(url, JSON.parse(text) as Description)
  }

  private constructor(url: string, description: Description) {
    this.#url = url
    this.#description = description
    this.#ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    this.#ajv.addFormat('uri', text => URL.canParse(text))
    for (const [name, schema] of Object.entries(description.components.schemas)) {
      this.#ajv.addSchema(schema, `api:${name}`)
    }
  }

  /** Operations that tests in this file have called, as `GET /path`. */
  static readonly called = new Set<string>()

  /** Returns the described operations, as `GET /path`. */
  get operations(): readonly string[] {
    return Object.entries(this.#description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
    )
  }

  get = (path: string) => this.call('GET', path)
  post = (path: string, body: object = {}) => this.call('POST', path, body)
  put = (path: string, body: object = {}) => this.call('PUT', path, body)
  delete = (path: string) => this.call('DELETE', path)

  async call(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const full = path.startsWith('/v1') ? path : `/_emulator/v1${path}`
    const reply = await fetch(this.#url + full, {
      method,
      headers: { 'x-ackhook': '1', 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    const type = reply.headers.get('content-type')?.split(';')[0] ?? ''
    const parsed = type === 'application/json' ? JSON.parse(text) : text
    this.#check(method, full, body, reply.status, type, parsed)
    return { status: reply.status, headers: reply.headers, body: parsed }
  }

  #check(
    method: string,
    path: string,
    request: object | undefined,
    status: number,
    type: string,
    body: unknown,
  ): void {
    const operation = this.#operationFor(method, path)
    const described = operation?.responses[status] ?? operation?.responses['default']
    expect(described, `${method} ${path} is not described with the status ${status}`).toBeDefined()
    const schema = described?.content?.[type]?.schema
    if (described?.content === undefined) expect(body).toBe('')
    else this.#conform(schema, body, `the reply ${status} of ${method} ${path}`)
    // Accepted request bodies must be described too.
    const accepted = operation?.requestBody?.content['application/json']?.schema
    if (status < 300 && request !== undefined && Object.keys(request).length > 0) {
      this.#conform(accepted, request, `the body of ${method} ${path}`)
    }
  }

  #operationFor(method: string, path: string): OperationDescription | undefined {
    const [bare = ''] = path.split('?')
    const patterns = Object.entries(this.#description.paths).sort(
      ([a], [b]) => a.split('{').length - b.split('{').length,
    )
    for (const [template, methods] of patterns) {
      if (new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(bare)) {
        const operation = methods[method.toLowerCase()]
        if (operation === undefined) continue
        DescribedApi.called.add(`${method} ${template}`)
        return operation
      }
    }
    return undefined
  }

  #conform(schema: object | undefined, value: unknown, what: string): void {
    expect(schema, `${what} is not described`).toBeDefined()
    const known = this.#validators.get(schema as object) ?? this.#ajv.compile(schema as object)
    this.#validators.set(schema as object, known)
    if (known(value)) return
    expect.fail(
      `${what} is not as described: ${this.#ajv.errorsText(known.errors)}\n${JSON.stringify(value)}`,
    )
  }
}
