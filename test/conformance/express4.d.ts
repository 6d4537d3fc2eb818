/** Express 4 has the types of Express as far as these tests go. */
declare module 'express4' {
  export { default } from 'express'
}
