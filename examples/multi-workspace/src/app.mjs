// @ts-check
import { webhooks } from '@ackhook/express'
import express from 'express'

/**
 * One route for many workspaces, each with its own signing secret and event ids.
 *
 * @param {ReadonlyMap<string, string>} secrets By workspace. Yours may be a database with a cache.
 */
export function createApp(secrets) {
  const hooks = webhooks({
    // Returns null for an unknown workspace: the reply is 401, as for any request that cannot prove its origin.
    secret: request => secrets.get(workspaceOf(request)) ?? null,
    namespace: workspaceOf,
  })
  const app = express()
  app.post('/webhooks/:workspace', hooks)
  return { app, hooks }
}

/** @param {import('express').Request} request */
function workspaceOf(request) {
  return String(request.params['workspace'])
}
