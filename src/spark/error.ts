/** Thrown for a request of Spark that cannot be carried out; the message is what the API answers. */
export class SparkError extends Error {
  override readonly name = 'SparkError'
}
