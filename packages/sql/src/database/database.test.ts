import { ConfigurationError } from '@ackhook/core'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Client, Pool } from 'pg'
import { expect, it } from 'vitest'
import { sqlStore } from '../store/sql-store.ts'
import { numbered, returnsRows, toResult } from './dialect.ts'

it('refuses an object that it does not know, with a list of those that it does', () => {
  for (const wrong of [undefined, null, 5, 'postgres://', {}, () => {}, { query: 5 }]) {
    expect(() => sqlStore(wrong as never)).toThrow(ConfigurationError)
    expect(() => sqlStore(wrong as never)).toThrow(/a pg Pool.*\{ dialect, query, transaction \}/)
  }
})

it('refuses a connection that cannot hold several transactions', () => {
  const query = () => {}
  expect(() => sqlStore({ query, connect() {} })).toThrow('a single pg client')
  expect(() => sqlStore({ query, execute: query, beginTransaction: query })).toThrow(
    'a single mysql2 connection',
  )
  const pool = { query, execute: query, getConnection: query, promise: query }
  expect(() => sqlStore(pool)).toThrow("pool of 'mysql2'")
})

it('refuses Drizzle over a single connection, which two events would share', () => {
  expect(() => sqlStore(drizzle(new Client()))).toThrow('Drizzle over a single connection')
  expect(() => sqlStore(drizzle(new Pool()))).not.toThrow()
})

it('refuses wrong options', () => {
  const db = { dialect: 'sqlite', query() {}, transaction() {} }
  expect(() => sqlStore(db, { prefix: 'x'.repeat(101) })).toThrow("Option 'prefix'")
  expect(() => sqlStore(db, { prefix: 'a\0' })).toThrow("Option 'prefix'")
  expect(() => sqlStore(db, { timeout: '1ms' })).toThrow("Option 'timeout'")
  expect(() => sqlStore(db, { dialect: 'oracle' as never })).toThrow("Option 'dialect'")
  expect(() => sqlStore({ ...db, dialect: 'oracle' })).toThrow("Option 'dialect'")
  expect(() => sqlStore(db, { retention: '7d' } as never)).toThrow("Option 'retention'")
})

it('writes the placeholders of PostgreSQL', () => {
  expect(numbered('a = ? AND b = ?::text')).toBe('a = $1 AND b = $2::text')
  expect(returnsRows('SELECT 1')).toBe(true)
  expect(returnsRows('INSERT INTO t VALUES (1) RETURNING 1 AS n')).toBe(true)
  expect(returnsRows('UPDATE t SET a = 1')).toBe(false)
})

it('reads what each library replies', () => {
  const row = { a: 1 }
  expect(toResult({ rows: [row], rowCount: 1 })).toEqual({ rows: [row], affected: 1 })
  expect(toResult({ rows: [], affectedRows: 3 })).toEqual({ rows: [], affected: 3 })
  expect(toResult({ rows: [], numAffectedRows: 3n })).toEqual({ rows: [], affected: 3 })
  expect(toResult([[row], []])).toEqual({ rows: [row], affected: 1 })
  expect(toResult([{ affectedRows: 2 }, undefined])).toEqual({ rows: [], affected: 2 })
  expect(toResult({ changes: 4 })).toEqual({ rows: [], affected: 4 })
  expect(() => toResult(undefined)).toThrow('cannot read')
  expect(() => toResult({ changes: 'many' })).toThrow('cannot read')
})
