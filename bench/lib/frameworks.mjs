/** Frameworks that `http` measures, with their names in the report. */
export const FRAMEWORKS = { 'node:http': 'node:http', express: 'Express', fastify: 'Fastify', hono: 'Hono' }
