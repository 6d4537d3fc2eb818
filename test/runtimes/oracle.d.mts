/** Compares `verifyRequest` with Stripe's library over mutated requests. `wrong`: the first five that it judges otherwise. */
export declare function compareWithStripe(run: {
  readonly seed: number
  readonly count: number
}): Promise<{ readonly accepted: number; readonly wrong: readonly string[] }>
