import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Iterator;

/** Echo with selectors: Echo server PORT, Echo client PORT. */
public class Echo {
    static byte at(long i) { return (byte) (i * 2654435761L >> 13); }

    static void server(int port) throws Exception {
        Selector selector = Selector.open();
        ServerSocketChannel listener = ServerSocketChannel.open();
        listener.bind(new InetSocketAddress("127.0.0.1", port));
        listener.configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
        for (;;) {
            selector.select();
            for (Iterator<SelectionKey> keys = selector.selectedKeys().iterator(); keys.hasNext();) {
                SelectionKey key = keys.next();
                keys.remove();
                if (key.isAcceptable()) {
                    SocketChannel one = listener.accept();
                    one.configureBlocking(false);
                    one.register(selector, SelectionKey.OP_READ, ByteBuffer.allocate(20000));
                    continue;
                }
                SocketChannel one = (SocketChannel) key.channel();
                ByteBuffer buffer = (ByteBuffer) key.attachment();
                if (key.isReadable() && one.read(buffer) < 0) {
                    one.close();
                    continue;
                }
                buffer.flip();
                one.write(buffer);
                buffer.compact();
                key.interestOps((buffer.hasRemaining() ? SelectionKey.OP_READ : 0) | (buffer.position() > 0 ? SelectionKey.OP_WRITE : 0));
            }
        }
    }

    static void client(int port) throws Exception {
        Selector selector = Selector.open();
        SocketChannel one = null;
        for (int i = 0; one == null; i++) {
            try {
                one = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
            } catch (java.net.ConnectException refused) {
                if (i > 1500) throw refused;
                Thread.sleep(20);
            }
        }
        one.configureBlocking(false);
        SelectionKey key = one.register(selector, SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        final long total = 3000000;
        long sent = 0, got = 0;
        ByteBuffer out = ByteBuffer.allocate(7000), in = ByteBuffer.allocateDirect(9000);
        while (got < total) {
            selector.select();
            selector.selectedKeys().clear();
            out.clear();
            for (long i = sent; i < total && out.hasRemaining(); i++) out.put(at(i));
            out.flip();
            sent += one.write(out);
            if (sent == total) key.interestOps(SelectionKey.OP_READ);
            in.clear();
            if (one.read(in) < 0) throw new Exception("the end, too soon");
            in.flip();
            while (in.hasRemaining()) if (in.get() != at(got++)) throw new Exception("byte " + (got - 1));
        }
        System.out.println(got + " bytes");
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[1]);
        if (arguments[0].equals("server")) server(port); else client(port);
    }
}
