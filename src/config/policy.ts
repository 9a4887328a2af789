export interface ManagedPolicy {
  file?: string;
}
