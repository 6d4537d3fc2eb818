import { PATHS, REQUESTS } from './paths.ts'
import { SCHEMAS } from './schemas.ts'

/** The description of the HTTP API, OpenAPI 3.1. The server adds its version. */
export const OPENAPI: Readonly<Record<string, unknown>> & { readonly info: object } = {
  openapi: '3.1.0',
  info: {
    title: 'Ackhook emulator',
    description:
      'The platform on your machine. Unsafe calls that no browser marks need the header x-ackhook: 1 and JSON.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  paths: PATHS,
  components: {
    schemas: { ...SCHEMAS, ...REQUESTS },
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
  },
}
