/* The floor of part `mpi` of `make bench`: MPI's own blocking calls in a loop with nothing around them.
 *
 *     mpi_floor SIZE TIMES TRIALS BUFFERS
 *
 * BUFFERS 1: each rank sends what it has just received, from where it lies, as NetPIPE does; 2: rank 0 sends from memory of its own, and rank 1
 * what it received, as pipegauge does. Prints the seconds of half a round trip: the best mean of the trials. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 5) {
        fprintf(stderr, "usage: mpi_floor SIZE TIMES TRIALS BUFFERS\n");
        return 2;
    }
    int size = atoi(argv[1]), times = atoi(argv[2]), trials = atoi(argv[3]), rank;
    void *in = NULL, *out = NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (size < 1 || times < 1 || posix_memalign(&in, 4096, size) != 0 || posix_memalign(&out, 4096, size) != 0) {
        fprintf(stderr, "mpi_floor: no memory, or a size or a number below 1\n");
        return 2;
    }
    memset(in, 1, size);
    memset(out, 2, size);
    if (atoi(argv[4]) == 1 || rank == 1)
        out = in;
    double best = 1e9;
    for (int trial = 0; trial <= trials; trial++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double began = MPI_Wtime();
        for (int i = 0; i < times; i++) {
            if (rank == 0)
                MPI_Send(out, size, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
            MPI_Recv(in, size, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1)
                MPI_Send(out, size, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
        }
        double mean = (MPI_Wtime() - began) / times / 2;
        /* The first trial warms up. */
        if (trial > 0 && mean < best)
            best = mean;
    }
    if (rank == 0)
        printf("%.12e\n", best);
    MPI_Finalize();
    return 0;
}
