export type { CapturedRequest } from './delivery/captured-request.ts'
export {
  type DeliveryFile,
  fromDeliveryFile,
  readDelivery,
  toDeliveryFile,
} from './delivery/delivery-file.ts'
export { type DiagnoseOptions, type Diagnosis, diagnose, type Finding } from './doctor/diagnose.ts'
export { run } from './run.ts'
export type { Progress, Terminal } from './terminal/terminal.ts'
