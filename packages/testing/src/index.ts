export { type SignOptions, sign } from './sign.ts'
