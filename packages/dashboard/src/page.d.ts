/** The page's files, which the build creates from `ui/`. */
export declare const assets: Readonly<Record<string, Asset>>

export interface Asset {
  /** Content type with its charset. */
  readonly type: string
  readonly etag: string
  readonly body: string
}
