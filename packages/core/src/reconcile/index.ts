export {
  type Cursor,
  type Reconciled,
  type ReconcileOptions,
  type Reconciliation,
  reconcile,
} from './reconcile.ts'
