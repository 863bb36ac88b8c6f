package cmd

import (
	"time"

	"github.com/spf13/cobra"
)

// notReady is the exit code of status for a Darkroom that is not ready.
const notReady = exitCode(2)

func newStatus() *cobra.Command {
	s := &subject{}
	command := &cobra.Command{
		Use:   "status NAME",
		Short: "Shows on one screen why a Darkroom is not ready, and what to do",
		Long: `Shows the state of a Darkroom with its conditions, pods, hosts, source and latest events, and what to do
about it. The exit code is 0 if it is ready, 2 if it is not, and 1 after an error.`,
		Example: `  kubectl darkroom status photos
  kubectl darkroom status photos -n team-a || kubectl darkroom report photos -n team-a > report.yaml`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			evidence, _, err := s.gather(cmd.Context(), args[0], false)
			if err != nil {
				return err
			}
			if err := evidence.Screen(cmd.OutOrStdout(), time.Now()); err != nil {
				return err
			}
			if !evidence.Ready() {
				return notReady
			}
			return nil
		},
	}
	s.addFlags(command.Flags())
	return command
}
