export {
  type Delivery,
  type DeliveryFile,
  fromDeliveryFile,
  toDeliveryFile,
} from './delivery/delivery-file.ts'
export { readDelivery } from './delivery/read-delivery.ts'
export { type DiagnoseOptions, type Diagnosis, diagnose, type Finding } from './doctor/diagnose.ts'
export { run } from './run.ts'
export type { Progress, Terminal } from './terminal/terminal.ts'
