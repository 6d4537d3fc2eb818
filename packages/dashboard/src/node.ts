export { nodeDashboard as dashboard } from './mount/node-dashboard.ts'
