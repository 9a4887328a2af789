/** What the conversation that is under way does about questions. Set by whoever shows it. */
export interface Questions {
  /** Called with true while a question is on the screen. */
  onAsking(isAsking: boolean): void;
  /** The turn or command that questions belong to now. No question outlives it. */
  during: AbortSignal | undefined;
  /** The person wants the whole turn to stop. */
  onCancel(): void;
}
