export {
  type FastifyDashboardOptions,
  fastifyDashboard as dashboard,
} from './mount/fastify-dashboard.ts'
