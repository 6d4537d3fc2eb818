/** Express 4 has the same types as Express 5 for these tests. */
declare module 'express4' {
  export { default } from 'express'
}
