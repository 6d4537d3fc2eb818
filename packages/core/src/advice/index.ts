/**
 * What servers' and runtimes' errors mean, and what to do about each: for stores and inboxes with a server, whose failed start
 * should name the fix. A separate entry point, so that other applications do not load the table.
 *
 * @module
 */

export { type Advice, adviceOn, type Server, withAdvice } from './advise.ts'
