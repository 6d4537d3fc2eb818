export { serveTools, type Tool, type ToolServerOptions } from './serve-tools.ts'
