import { PATHS, REQUESTS } from './paths.ts'
import { SCHEMAS } from './schemas.ts'

/** OpenAPI 3.1 description of the HTTP API. The server adds its version. */
export const OPENAPI: Readonly<Record<string, unknown>> & { readonly info: object } = {
  openapi: '3.1.0',
  info: {
    title: 'Ackhook emulator',
    description:
      "The platform on your machine. Calls that change something need the header x-ackhook: 1 and JSON, except from the emulator's page.",
    license: { name: 'MIT', identifier: 'MIT' },
  },
  paths: PATHS,
  components: {
    schemas: { ...SCHEMAS, ...REQUESTS },
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
  },
}
