/** What `http` measures on, and how the report calls it. */
export const FRAMEWORKS = { 'node:http': 'node:http', express: 'Express', fastify: 'Fastify', hono: 'Hono' }
